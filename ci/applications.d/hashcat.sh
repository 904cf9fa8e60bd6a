# hashcat (Debian): the self-test of each mode and the crack of a made-up hash by a list of words.
prepare() { install hashcat python3 openssl; }

# crack MODE HASH: each start runs the mode's self-test first, which ends hashcat where it fails.
crack() {
    echo "mode $1"
    hashcat -m "$1" -a 0 --potfile-disable --force -D 1,2 -o "found$1" "$2" words >"log$1" 2>&1 || {
        tail -n 20 "log$1"
        return 1
    }
    grep -q ':Pumice42$' "found$1"
}

check() {
    printf '%s\n' password letmein Pumice4 pumice42 Pumice42 Pumice421 >words
    local word=Pumice42 mode
    crack 0 "$(printf %s $word | md5sum | cut -d ' ' -f 1)"
    crack 100 "$(printf %s $word | sha1sum | cut -d ' ' -f 1)"
    crack 1400 "$(printf %s $word | sha256sum | cut -d ' ' -f 1)"
    crack 1700 "$(printf %s $word | sha512sum | cut -d ' ' -f 1)"
    crack 1000 "$(printf %s $word | iconv -t UTF-16LE | openssl dgst -md4 -provider legacy -provider default | sed 's/.* //')"
    crack 500 "$(openssl passwd -1 -salt pumicest $word)"
    crack 7400 "\$5\$rounds=5000\$$(openssl passwd -5 -salt pumicest $word | cut -d '$' -f 3-)"
    crack 10900 "$(python3 -c "
import base64, hashlib
salt = b'pumicest'
key = hashlib.pbkdf2_hmac('sha256', b'$word', salt, 1000, 32)
print('sha256', 1000, base64.b64encode(salt).decode(), base64.b64encode(key).decode(), sep=':')")"
    echo 8 modes
}
