// Embedded Swift has no CommandLine, so the arguments are passed to it.
int authc_start(int count, char **words);

int main(int count, char **words) { return authc_start(count, words); }
