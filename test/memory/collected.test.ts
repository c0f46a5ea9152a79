import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { nodeArguments } from '../support/node.js'

const program = fileURLToPath(new URL('loops.ts', import.meta.url))

function run(kind: string, every: number): { peak: number; live: number } {
  const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', ...nodeArguments(program), kind, '1000', `${every}`], {
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as { peak: number; live: number }
}

// 600 MB of garbage; node itself takes some 60 MB
for (const kind of ['tensor', 'view', 'operator', 'out argument', 'interpreted', 'plan', 'small']) {
  t.test(`${kind}: what is dropped is collected, in a synchronous loop too`, async (t) => {
    for (const every of [0, 50]) {
      const { peak, live } = run(kind, every)
      t.ok(peak < 330, `the resident set was ${peak} MB at most, the event loop running after ${every} iterations`)
      t.ok(live < 20, `${live} MB count as live in the end`)
    }
  })
}
