import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      { readonly needs?: string | readonly string[]; readonly steps: readonly { run?: string; uses?: string; with?: { path?: string } }[] }
    >
  >
}

t.test('workflows run what is there, and bring the libraries to where packages take them from', (t) => {
  const folder = `${root}.github/workflows`
  const workflows = readdirSync(folder).map((name) => [name, parse(readFileSync(`${folder}/${name}`, 'utf8')) as Workflow] as const)
  for (const [name, { jobs }] of workflows) {
    for (const { needs, steps } of Object.values(jobs)) {
      for (const job of [needs ?? []].flat()) t.ok(job in jobs, `${name}: ${job}`)
      for (const { run = '' } of steps)
        for (const [file] of run.matchAll(/(?:\.ci|scripts)\/[\w/.-]+|\.\/setup\.sh/g)) t.ok(existsSync(root + file), `${name}: ${file}`)
    }
  }
  const { publish } = workflows.find(([name]) => name === 'publish.yml')![1].jobs
  const commands = publish!.steps.map(({ run = '' }) => run)
  const places = publish!.steps.filter(({ uses }) => uses?.startsWith('actions/download-artifact')).map((step) => step.with!.path!)
  t.strictSame(places, ['build/libraries'], 'all of them, a folder each')
  t.ok(commands.includes('node scripts/targets.mjs place build/libraries'))
  t.end()
})

t.test('workflows run over the rows of targets.json', async (t) => {
  const { MATRICES, TARGETS } = (await import('../../scripts/targets.mjs' as string)) as {
    readonly MATRICES: Readonly<Record<string, () => readonly { readonly name?: string; readonly runner?: string }[]>>
    readonly TARGETS: readonly { readonly name: string; readonly npm?: object; readonly ci?: { readonly runner: string } }[]
  }
  const texts = readdirSync(`${root}.github/workflows`).map((name) => readFileSync(`${root}.github/workflows/${name}`, 'utf8'))
  for (const name of Object.keys(MATRICES))
    t.ok(
      texts.some((text) => text.includes(`matrix ${name})`)),
      name,
    )
  const published = TARGETS.filter(({ npm }) => npm !== undefined).map(({ name }) => name)
  const built = [...MATRICES.native!(), ...MATRICES.cross!(), ...MATRICES.linked!()].map(({ name }) => name)
  t.strictSame(built.sort(), published.sort(), 'each library is built once')
  const runners = new Set(Object.values(MATRICES).flatMap((rows) => rows().map(({ runner }) => runner)))
  for (const { name, ci } of TARGETS) t.ok(ci === undefined || runners.has(ci.runner), name)
})
