import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import root, { type Test } from 'tap'

/** The subtest of the file that is being run, where several share a process; else tap itself. */
let current: Test = root

/** What test files import as `tap` once they are bundled. */
const tap = new Proxy(root, {
  get(_, name) {
    const value: unknown = Reflect.get(current, name, current)
    return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(current) : value
  },
})
export default tap
export const test = ((...args: Parameters<Test['test']>) => current.test(...args)) as Test['test']

type Variables = Readonly<Record<string, string>>
const FILES = 'PTLITE_TEST_FILES'
/** The files that are to run again with other variables of the environment, by the name of these. */
const later = new Map<string, { readonly env: Variables; readonly files: string[] }>()

/** Has the file that is being run run again, with those of its folder; false where it has a process of its own. */
export function runLater(url: string, env: Variables, name: string): boolean {
  if (current === root) return false
  const rerun = later.get(name) ?? { env, files: [] }
  rerun.files.push(relative(process.cwd(), fileURLToPath(url)))
  later.set(name, rerun)
  return true
}

/** Runs test files one after another, each as a subtest, with the environment and the folder that the process began with. */
export async function runFiles(files: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const environment = { ...process.env }
  const folder = process.cwd()
  const only = environment[FILES]?.split(' ')
  for (const [name, load] of Object.entries(files)) {
    if (only?.includes(name) === false) continue
    await root.test(name, async (t) => {
      current = t
      await load()
    })
    current = root
    process.chdir(folder)
    for (const key of Object.keys(process.env)) if (!(key in environment)) Reflect.deleteProperty(process.env, key)
    Object.assign(process.env, environment)
  }
  for (const [name, { env, files }] of later) {
    const args = [...process.execArgv, process.argv[1]!]
    await root.spawn(process.execPath, args, { env: { ...environment, ...env, [FILES]: files.join(' ') } }, name)
  }
}
