import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { fixturePath } from '../module/fixtures.js'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
const skip = existsSync(join(dist, 'index.cjs')) && existsSync(join(dist, 'libptlite.so')) ? false : 'not built'

/** Calls the model of a file twice, and prints the chunks that are loaded by then. */
const PROGRAM = `const [, dist, file] = process.argv
const session = new (require('node:inspector').Session)()
const loaded = []
session.connect()
session.on('Debugger.scriptParsed', ({ params: { url } }) => {
  const [, name] = /([\\w-]+)\\.cjs$/.exec(url) ?? []
  if (url.includes(dist) && !/^(index|load|save|library|decoders)$/.test(name)) loaded.push(name)
})
session.post('Debugger.enable')
const { loadModule, tensor } = require(dist + 'index.cjs')
loadModule(file).then((module) => {
  for (let i = 0; i < 2; i++) module.forward(tensor(new Float32Array(3 * 64 * 64), [1, 3, 64, 64])).dispose()
  console.log(loaded.sort().join(' '))
})`

const chunksOf = (file: string): string => execFileSync(process.execPath, ['-e', PROGRAM, dist, file], { encoding: 'utf8' }).trim()

t.test('what is loaded', { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-chunks-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [model, plans] = [fixturePath('models/mobilenet_v2.ptl'), join(folder, 'model.ptlc')]
  execFileSync(process.execPath, [join(dist, 'cli.js'), 'compile', model, '--shape', '1,3,64,64', '-o', plans])
  t.equal(chunksOf(plans), 'model plans tensors', 'plans need no operators')
  t.equal(chunksOf(model), 'compiler model operators plans tensors', 'the compiler comes without most operators')
  t.end()
})
