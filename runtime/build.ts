/**
 * What follows an error about something that a build lacks: how to make one that has it. Empty here; a selective build brings its own,
 * which names the traces it was made from and the command.
 */
export const HOW_TO_EXTEND: string = ''

const HERE = `${process.platform}-${process.arch}`

/**
 * Where the kernel library is looked for, from the folder of the module that loads it: beside it, or, for sources, in what they are built to. Libraries
 * that were built on another machine, for this platform, have a folder of their own.
 */
export const LIBRARY_FOLDERS: readonly string[] = ['.', '../../dist'].flatMap((folder) =>
  HERE === 'linux-x64' ? [folder] : [`${folder}/${HERE}`, folder],
)

/** Whether it is looked for in the package of the platform, too. */
export const HAS_PACKAGES: boolean = true

/** What to do where it is missing or another one. A selective build looks beside itself alone, and is where its library comes from. */
export const HOW_TO_GET_LIBRARY: string = "build it with 'npm run build'"
