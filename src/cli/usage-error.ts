/** A command line that makes no sense: message and usage go to stderr, exit status 2. */
export class UsageError extends Error {}
