/**
 * `node scripts/test-programs.mjs PROGRAM ...`: runs test programs beside each other, each a subtest, and prints what they print as one stream of TAP.
 * tap's own command has Node load modules for mocks, types and coverage in each process and each of its threads, which takes longer than most tests.
 */
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import t from 'tap'
import { root } from './bundle.mjs'

const SECONDS = 900
const FLAGS = ['--enable-source-maps', '--import=./test/support/whole-library.mjs']
/** tap puts a loader among the options of Node. */
const [command, before] =
  process.platform === 'win32' ? [process.execPath, []] : ['env', [`NODE_OPTIONS=${process.env.NODE_OPTIONS ?? ''}`, process.execPath]]

t.jobs = availableParallelism() + 1
t.setTimeout(0)
for (const program of process.argv.slice(2))
  t.spawn(command, [...before, ...FLAGS, program], {
    name: relative(root, program),
    cwd: root,
    buffered: true,
    timeout: SECONDS * 1000,
    env: { ...process.env, TAP_TIMEOUT: String(SECONDS) },
  })
