import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
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
  const platforms = JSON.parse(readFileSync(`${root}scripts/release/platforms.json`, 'utf8')) as readonly { library: string }[]
  const { publish } = workflows.find(([name]) => name === 'publish.yml')![1].jobs
  const places = publish!.steps.filter(({ uses }) => uses?.startsWith('actions/download-artifact')).map((step) => step.with!.path!)
  t.strictSame(places, platforms.map(({ library }) => dirname(library))) // prettier-ignore
  t.end()
})
