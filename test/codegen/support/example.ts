import { join } from 'node:path'
import ts from 'typescript'

/** The files of an example's program, and what the compiler of TypeScript says of them. */
export function checkExample(folder: string): { readonly files: readonly string[]; readonly errors: readonly string[] } {
  const config = ts.readConfigFile(join(folder, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config as object
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  const errors = ts.getPreEmitDiagnostics(ts.createProgram(fileNames, { ...options, noEmit: true }))
  return { files: fileNames, errors: errors.map((e) => ts.flattenDiagnosticMessageText(e.messageText, ' ')) }
}
