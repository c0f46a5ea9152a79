import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import root, { type Test } from 'tap'
import { match, same, strict } from 'tcompare'

type Function = (...args: unknown[]) => unknown
type Rule = (found: unknown, wanted: unknown) => boolean

/** Assertions whose outcome is cheaper to find than to print and to parse. */
const RULES: Readonly<Record<string, Rule>> = {
  ok: (found) => Boolean(found),
  notOk: (found) => !found,
  equal: (found, wanted) => found === wanted,
  not: (found, wanted) => found !== wanted,
  same: (found, wanted) => same(found, wanted).match,
  strictSame: (found, wanted) => strict(found, wanted).match,
  match: (found, wanted) => match(found, wanted).match,
}
let counted = 0

/**
 * A test that prints its first assertion and those that fail, and only counts others that hold: most of the time of short tests
 * would go into the lines of what passed, in the process that prints them and in the one that parses them.
 */
function counting(t: Test): Test {
  let silent = false
  return new Proxy(t, {
    get(_, name) {
      const value: unknown = Reflect.get(t, name, t)
      if (typeof value !== 'function') return value
      const method = (value as Function).bind(t)
      if (name === 'test')
        return (...args: unknown[]) => method(...args.map((arg) => (typeof arg === 'function' ? forTest(arg as Function) : arg)))
      const holds = RULES[name as string]
      if (holds === undefined) return method
      const assertion = (...args: [unknown, unknown]): unknown => {
        if (!holds(...args)) return method(...args.slice(0, holds.length), ...explained(args.slice(holds.length), assertion))
        if (!silent) {
          silent = true
          return method(...args)
        }
        counted++
        return true
      }
      return assertion
    },
  })
}

/** The message and details of an assertion that fails, with the place of the one who makes it. */
function explained(rest: readonly unknown[], assertion: Function): readonly unknown[] {
  const at = { message: '', stack: '' }
  Error.captureStackTrace(at, assertion)
  const details = rest.find((one) => typeof one === 'object')
  return [...rest.filter((one) => typeof one === 'string'), { ...details, stack: at.stack.slice(at.stack.indexOf('    at ')) }]
}

function forTest(body: Function): Function {
  return (t) => body(counting(t as Test))
}

/** The subtest of the file that is being run, where several share a process; else tap itself. */
let current: Test = root

/** What test files import as `tap` once they are bundled. */
const tap = new Proxy(root, {
  get(_, name) {
    const value: unknown = Reflect.get(current, name, current)
    return typeof value === 'function' ? (value as Function).bind(current) : value
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
      current = counting(t)
      await load()
    })
    current = root
    process.chdir(folder)
    for (const key of Object.keys(process.env)) if (!(key in environment)) Reflect.deleteProperty(process.env, key)
    Object.assign(process.env, environment)
  }
  // .ci/count-tap.mjs reads this
  root.comment(`${counted} more assertions held`)
  for (const [name, { env, files }] of later) {
    const args = [...process.execArgv, process.argv[1]!]
    await root.spawn(process.execPath, args, { env: { ...environment, ...env, [FILES]: files.join(' ') } }, name)
  }
}
