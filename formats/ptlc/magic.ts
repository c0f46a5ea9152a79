/** First bytes of a .ptlc file, as characters of Latin-1. */
export const PLAN_MAGIC = 'PTLC\r\n\x1a\n'
