# clinfo (Debian): asks for everything there is to ask, twice over.
prepare() { install clinfo; }
check() {
    clinfo >found
    grep -q 'Number of devices *1' found
    none '\berror:|get .*: error' found
    clinfo --raw | wc -l | xargs echo lines:
}
