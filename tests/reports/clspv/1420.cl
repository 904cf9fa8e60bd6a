// clspv 1420: characters stored one by one lay four bytes apart.
// inout: char 16*1 -> char 72 101 108 108 111 32 87 111 114 108 100 33 10 0 1 1
kernel void test(global char *data)
{
    data[0] = 'H';
    data[1] = 'e';
    data[2] = 'l';
    data[3] = 'l';
    data[4] = 'o';
    data[5] = ' ';
    data[6] = 'W';
    data[7] = 'o';
    data[8] = 'r';
    data[9] = 'l';
    data[10] = 'd';
    data[11] = '!';
    data[12] = '\n';
    data[13] = 0;
}
