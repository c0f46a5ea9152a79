/**
 * What follows an error about something that a build lacks: how to make one that has it. Empty here; a selective build brings its own,
 * which names the traces it was made from and the command.
 */
export const HOW_TO_EXTEND: string = ''
