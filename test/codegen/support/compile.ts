import { BACKEND_FOLDERS } from '../../../codegen/model/operator.js'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../../..')

/** Files of the repository and of packages, which several programs have. */
const parsed = new Map<string, ts.SourceFile | undefined>()

/** A host whose programs share what is `shared`: to parse and bind it takes longer than to check what is looked at. */
export function cachingHost(options: ts.CompilerOptions, shared = (name: string): boolean => name.startsWith(root)): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  return {
    ...host,
    getSourceFile: (name, how, ...rest) => {
      if (!shared(name)) return host.getSourceFile(name, how, ...rest)
      if (!parsed.has(name)) parsed.set(name, host.getSourceFile(name, how, ...rest))
      return parsed.get(name)
    },
  }
}

/** What is wrong with a program and with those of its files that are `own`; others are checked as far as these need it. */
export function errorsOf(program: ts.Program, own: (name: string) => boolean): ts.Diagnostic[] {
  const files = program.getSourceFiles().filter(({ fileName }) => own(fileName))
  return [
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...files.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
    ...program.getGlobalDiagnostics(),
  ]
}

/**
 * Type-checks files as if they stood in the repository, over the repository's own files where names are equal.
 * Returns their errors as `file(line): text`.
 */
export function typeErrors(files: ReadonlyMap<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-codegen-'))
  try {
    for (const [name, text] of [...files, ['package.json', '{"type":"module"}'] as const]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const roots = [...files.keys()].filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))
    const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config as { compilerOptions: object }
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
    const all = { ...options, noEmit: true, rootDirs: [folder, root], typeRoots: [join(root, 'node_modules/@types')] }
    const program = ts.createProgram(roots, all, cachingHost(all))
    return errorsOf(program, (name) => name.startsWith(folder)).map((d) => text(d, folder))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function text(diagnostic: ts.Diagnostic, folder: string): string {
  const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')
  if (diagnostic.file === undefined) return message
  const { line } = diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start ?? 0)
  return `${diagnostic.file.fileName.replace(`${folder}/`, '')}(${line + 1}): ${message}`
}

/** Backend modules whose native functions are declared as the interfaces say. */
export function stubModules(interfaces: string): Map<string, string> {
  const files = new Map<string, string>()
  for (const [backend, name] of BACKEND_FOLDERS) {
    const body = new RegExp(`export interface ${backend} \\{\\n([^]*?)^\\}`, 'm').exec(interfaces)?.[1] ?? ''
    const names = [...body.matchAll(/^ {2}(\w+): /gm)].map((m) => m[1]!)
    const lines = names.map((n) => `export declare const ${n}: ${backend}['${n}']\n`).join('')
    files.set(
      `runtime/operators/${name}/index.ts`,
      `import type { ${backend} } from '../support/generated/interfaces.js'\n${lines || 'export {}\n'}`,
    )
  }
  return files
}
