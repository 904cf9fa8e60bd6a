// Days to dates and back, days of the week, leap years, Easter, weeks of the year, roman numbers.
// words: 8 48
// run: private u8 1x16
// run: local u8 1x8
#define WORKS 16
typedef element work_t;

TABLE(u8) lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

static int is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static int days_before(int year, int month, int day) {
    const int y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
    const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
}

static void program(IN in, OUT out, MEM work_t *text) {
    for (int n = 0; n < 8; n++) {
        int left = (int)(in[n] % 200000), year = 1601, month = 0;
        const int number = left;
        while (left >= 365 + is_leap(year)) {
            left -= 365 + is_leap(year);
            year++;
        }
        const int of_year = left;
        for (;; month++) {
            const int length = lengths[month] + (month == 1 && is_leap(year));
            if (left < length)
                break;
            left -= length;
        }
        const int day = left + 1, weekday = number % 7;
        out[6 * n] = (u32)(year << 16 | (month + 1) << 8 | day);
        out[6 * n + 1] = (u32)(days_before(year, month + 1, day) - days_before(1601, 1, 1) - number);
        const int a = year % 19, b = year / 100, c = year % 100, d = b / 4, e = b % 4, f = (b + 8) / 25, g = (b - f + 1) / 3;
        const int h = (19 * a + b - d - g + 15) % 30, i = c / 4, k = c % 4, l = (32 + 2 * e + 2 * i - h - k) % 7;
        const int m = (a + 11 * h + 22 * l) / 451;
        out[6 * n + 2] = (u32)((h + l - 7 * m + 114) / 31 << 8 | ((h + l - 7 * m + 114) % 31 + 1));
        out[6 * n + 3] = (u32)(((of_year + 10 - (weekday + 1)) / 7) << 8 | weekday);
        int x = (int)(in[n] % 3999) + 1, length = 0;
        u32 hash = 0;
        for (int place = 1000; place > 0; place /= 10) {
            const int digit = x / place % 10;
            const char one = place == 1000 ? 'M' : place == 100 ? 'C' : place == 10 ? 'X' : 'I';
            const char five = place == 100 ? 'D' : place == 10 ? 'L' : 'V';
            const char ten = place == 100 ? 'M' : place == 10 ? 'C' : 'X';
            switch (digit) {
            case 9:
                text[length++] = (element)one;
                text[length++] = (element)ten;
                break;
            case 8:
            case 7:
            case 6:
            case 5:
                text[length++] = (element)five;
                for (int r = digit - 5; r > 0; r--)
                    text[length++] = (element)one;
                break;
            case 4:
                text[length++] = (element)one;
                text[length++] = (element)five;
                break;
            case 3:
                text[length++] = (element)one;
                /* falls through */
            case 2:
                text[length++] = (element)one;
                /* falls through */
            case 1:
                text[length++] = (element)one;
            }
        }
        for (int i2 = 0; i2 < length; i2++)
            hash = hash * 31 + (u32)text[i2];
        int back = 0, before = 0;
        for (int i2 = length - 1; i2 >= 0; i2--) {
            int v = 0;
            switch ((int)text[i2]) {
            case 'M': v = 1000; break;
            case 'D': v = 500; break;
            case 'C': v = 100; break;
            case 'L': v = 50; break;
            case 'X': v = 10; break;
            case 'V': v = 5; break;
            default: v = 1;
            }
            back += v < before ? -v : v;
            before = MAX(before, v);
        }
        out[6 * n + 4] = hash;
        out[6 * n + 5] = (u32)(back - x);
    }
}
