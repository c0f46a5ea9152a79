import { statSync } from 'node:fs'
import { outputTarget } from '../../codegen/output-target.js'
import { replaceFiles } from '../../codegen/replace-files.js'

/** Writes a file as replaceFiles does. Throws WRITE_FAILED naming it. */
export function writeFile(file: string, contents: string | Uint8Array): Promise<void> {
  return replaceFiles(new Map([[file, contents]]))
}

/** Prints what a command says beside its output: on stderr where stdout is the output. */
export function reportBeside(output: string): (line: string) => void {
  const target = outputTarget(output)
  return target.kind === 'descriptor' && target.descriptor === 1 ? (line) => console.error(line) : (line) => console.log(line)
}

/** True where the file can be read again once it is written: no pipe or device. */
export function isKept(output: string): boolean {
  return outputTarget(output).kind === 'file'
}

/** True where two paths lead to one file. */
export function isSameFile(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }))
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino
}
