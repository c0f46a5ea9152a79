/**
 * What follows an error about something that a build lacks: how to make one that has it. Empty here; a selective build brings its own,
 * which names the traces it was made from and the command.
 */
export const HOW_TO_EXTEND: string = ''

/** Where the kernel library is looked for, from the folder of the module that loads it: beside it, or, for sources, in what they are built to. */
export const LIBRARY_FOLDERS: readonly string[] = ['.', '../../dist']

/** Whether it is looked for in the package of the platform, too, and in a folder of the platform's for libraries that were built on another machine. */
export const HAS_PACKAGES: boolean = true

/** What to do where it is missing or another one. A selective build looks beside itself alone, and is where its library comes from. */
export const HOW_TO_GET_LIBRARY: string = "build it with 'npm run build'"
