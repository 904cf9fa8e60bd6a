# hcxkeys (Debian): WPA keys (PBKDF2, 4,096 times HMAC-SHA1) of a list of words against Python's hashlib.
prepare() { install hcxkeys python3; }
check() {
    printf 'password%d\n' {1..300} >words
    wlangenpmkocl -e pumice -i words -A keys </dev/null
    python3 - <<'PYTHON'
import hashlib

lines = open("keys").read().split()
assert len(lines) == 300, len(lines)
for line in lines:
    key, word = line.split(":")
    assert key == hashlib.pbkdf2_hmac("sha1", word.encode(), b"pumice", 4096, 32).hex(), word
print(len(lines), "keys")
PYTHON
}
