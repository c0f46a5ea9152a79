import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadModule, type Tensor, tensor } from '../../src/index.js'

/** Programs with tensors of dtypes that have little arithmetic; test/fixtures/limited/make_programs.py writes them. */

const FOLDER = 'test/fixtures/limited/'
const { outputs } = JSON.parse(readFileSync(`${FOLDER}program.json`, 'utf8')) as { outputs: unknown[] }
const inputs = (): Tensor[] => [
  tensor([
    [Math.fround(0.3), 1],
    [500, 40],
  ]),
  tensor([1n, 0n]),
]
const plain = (values: unknown): unknown[] => (values as Tensor[]).map((value) => value.toArray())

for (const file of ['program.pt', 'program.pt2']) {
  t.test(file, async (t) => {
    const model = await loadModule(FOLDER + file)
    for (let call = 0; call < 7; call++) t.strictSame(plain(model.forward(...inputs())), outputs, `call ${call}`)
    t.strictSame(plain(await model.run('forward', inputs())), outputs, 'in the background')
    await model.compile('forward', inputs())
    t.strictSame(plain(model.forward(...inputs())), outputs, 'compiled')
    t.match(JSON.stringify(model.plans()), /"state":"plan"/)
    model.dispose()
  })
}
