"""What LibreOffice Calc makes of formulas down a column of 200 rows, written to a file as JSON.

    python3 libreoffice_formulas.py FILE CALCULATION

CALCULATION is `opencl` (one kernel for each formula, an error where there is none) or `threads` (the host alone), as
SC_FORCE_CALCULATION has it. The values of the first four columns are made up; # is the row in which a formula stands.
"""

import json
import os
import subprocess
import sys
import time

import uno
from com.sun.star.beans import PropertyValue

ROWS = 200
FORMULAS = [
    # Operators and elementary functions.
    "=A#*B#+C#", "=(A#-B#)/C#", "=-A#+B#^2", "=A#^D#", "=IF(A#>B#;A#*2;B#-1)", "=IF(C#=7;1;IF(A#<=3;2;3))",
    "=SIN(A#)*EXP(-B#)", "=COS(A#)+TAN(D#)", "=SQRT(A#)+LN(B#)", "=LOG10(A#)+LOG(B#;3)", "=ASIN(D#)+ACOS(D#)+ATAN(A#)",
    "=SINH(D#)+COSH(D#)+TANH(A#)", "=ASINH(A#)+ACOSH(A#)", "=ATAN2(A#;B#)", "=ABS(B#-A#)", "=POWER(A#;1.5)",
    "=ROUND(A#*10;1)", "=INT(A#)+TRUNC(B#;1)", "=CEILING(A#;0.5)+FLOOR(B#;0.25)", "=MOD(A#*7;C#)", "=EVEN(A#)+ODD(B#)",
    "=FACT(C#)", "=COMBIN(C#+5;3)", "=SQRTPI(A#)", "=RADIANS(A#)+DEGREES(D#)", "=SIGN(A#-B#)", "=QUOTIENT(A#*9;C#)",
    # Ranges, fixed and moving.
    "=SUM(A$1:A$200)*B#", "=SUM(A#:D#)", "=AVERAGE(A#:D#)", "=MIN(A#:D#)+MAX(A#:D#)", "=PRODUCT(A#:D#)", "=COUNT(A#:D#)+C#",
    "=SUMPRODUCT(A$1:A$20;B$1:B$20)+C#", "=SUMSQ(A#:D#)", "=SUMIFS(A$1:A$200;C$1:C$200;C#)", "=COUNTIFS(C$1:C$200;C#)",
    "=AVERAGEIFS(A$1:A$200;C$1:C$200;C#)", "=VLOOKUP(C#;C$1:D$200;2;0)", "=SUM(A$1:B$100)-A#",
    # Statistics.
    "=VAR(A#:D#)", "=STDEV(A#:D#)", "=STDEVP(A#:D#)", "=VARP(A#:D#)", "=DEVSQ(A#:D#)", "=AVEDEV(A#:D#)", "=GEOMEAN(A#:D#)",
    "=HARMEAN(A#:D#)", "=KURT(A#:D#)", "=SKEW(A#:D#)", "=MEDIAN(A#:D#)", "=NORMDIST(A#;5;2;1)", "=NORMDIST(A#;5;2;0)",
    "=NORMSDIST(D#)", "=NORMINV(D#;1;2)", "=NORMSINV(D#)", "=PHI(D#)", "=GAUSS(D#)", "=STANDARDIZE(A#;5;2)", "=EXPONDIST(A#;0.3;1)",
    "=WEIBULL(A#;2;5;1)", "=POISSON(C#;A#;0)", "=BINOMDIST(C#;20;D#;0)", "=GAMMADIST(A#;2;3;1)", "=BETADIST(D#;2;3)",
    "=CHIDIST(A#;C#)", "=FDIST(A#;3;C#)", "=TDIST(D#;C#;2)", "=LOGNORMDIST(A#;1;0.5)", "=GAMMALN(A#)", "=FISHER(D#)+FISHERINV(A#)",
    "=CORREL(A$1:A$50;B$1:B$50)*C#", "=COVAR(A$1:A$50;B$1:B$50)*C#", "=PEARSON(A$1:A$50;B$1:B$50)*C#",
    "=SLOPE(A$1:A$50;B$1:B$50)*C#", "=INTERCEPT(A$1:A$50;B$1:B$50)*C#", "=RSQ(A$1:A$50;B$1:B$50)*C#",
    "=FORECAST(C#;A$1:A$50;B$1:B$50)", "=SUMX2MY2(A$1:A$20;B$1:B$20)+C#", "=SUMX2PY2(A$1:A$20;B$1:B$20)+C#",
    "=SUMXMY2(A$1:A$20;B$1:B$20)+C#",
    # Money.
    "=PV(D#/10;C#;A#)", "=FV(D#/10;C#;A#)", "=PMT(D#/10;C#;A#*100)", "=NPER(D#/10;-A#;B#)", "=RATE(C#+3;-5;30)",
    "=IPMT(D#/10;1;C#;A#*100)", "=PPMT(D#/10;1;C#;A#*100)", "=NPV(D#;A#:D#)", "=SLN(A#*100;B#;C#)", "=SYD(A#*100;B#;C#;1)",
    "=DDB(A#*100;B#;C#;1)", "=NOMINAL(D#;4)", "=CUMIPMT(D#/10;C#+2;A#*100;1;2;0)",
]


def rows():
    """Four columns: two that are between 0.5 and 16, whole numbers from 1 to 13, and what is between 0 and 1."""
    for i in range(ROWS):
        yield (i * 37 % 101 / 7 + 1, i * 53 % 97 / 11 + 0.5, float(i * 29 % 13 + 1), (i * 17 % 89 + 0.5) / 90)


def desktop_of(pipe):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(240):
        try:
            remote = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            return remote.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", remote)
        except Exception:  # It has not started yet; what is raised is made while running.
            time.sleep(0.5)
    raise SystemExit("LibreOffice does not come up")


def main():
    file, calculation = sys.argv[1:]
    pipe = f"formulas{os.getpid()}"
    profile = f"-env:UserInstallation=file://{os.getcwd()}/profile-{calculation}"
    office = subprocess.Popen(
        ["soffice", "--headless", "--norestore", "--nologo", profile, f"--accept=pipe,name={pipe};urp;"],
        env={**os.environ, "SC_FORCE_CALCULATION": calculation},
    )
    desktop = desktop_of(pipe)
    document = desktop.loadComponentFromURL("private:factory/scalc", "_blank", 0, (PropertyValue("Hidden", 0, True, 0),))
    document.enableAutomaticCalculation(False)
    sheet = document.Sheets[0]
    sheet.getCellRangeByPosition(0, 0, 3, ROWS - 1).setDataArray(tuple(rows()))
    columns = [sheet.getCellRangeByPosition(5 + at, 0, 5 + at, ROWS - 1) for at in range(len(FORMULAS))]
    for formula, column in zip(FORMULAS, columns):
        column.setFormulaArray(tuple((formula.replace("#", str(row + 1)),) for row in range(ROWS)))
    document.calculateAll()
    with open(file, "w") as results:
        json.dump({formula: [value for (value,) in column.getDataArray()] for formula, column in zip(FORMULAS, columns)}, results)
    document.close(True)
    try:
        desktop.terminate()
    except Exception:  # The connection ends with it.
        pass
    office.wait(60)


main()
