# OpenMM (Debian): forces of a protein in water on the OpenCL platform against the reference platform, its own check.
prepare() { install python3-simtk libopenmm-plugins python3-numpy; }
check() {
    /usr/bin/python3 -m openmm.testInstallation | tee said
    grep -q 'Reference vs. OpenCL' said && grep -q 'All differences are within tolerance' said
}
