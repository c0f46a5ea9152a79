import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError, parseConfig } from '../src/repository/config.js'
import { compareVersions, isModelName } from '../src/repository/names.js'
import { scanModel, scanRepository } from '../src/repository/scan.js'
import { fixture, repository } from './support/server.js'

const MODEL = fixture('affine.ptl')

t.test('models are found by folder and by file', async (t) => {
  const folder = realpathSync(
    repository(t, {
      'one/1/model.ptl': MODEL,
      'one/10/model.ff': MODEL,
      'one/9/weights.pt2': MODEL,
      'one/notes/model.ptl': MODEL,
      'two.ptl': MODEL,
      'three/net.pt': MODEL,
      '.git/1/model.ptl': MODEL,
      'read me.ptl': MODEL,
      'empty/1/readme.txt': MODEL,
      'several/1/a.ptl': MODEL,
      'several/1/b.ptl': MODEL,
      'latest/1/model.ptl': MODEL,
      'latest/2/model.ptl': MODEL,
      'latest/config.json': { versions: 'latest', labels: ['a'] },
      'none/1/model.ptl': MODEL,
      'none/config.json': { versions: [3] },
      'twice/1/model.ptl': MODEL,
      'twice.ptl': MODEL,
      'compiled/1/model.ptlc': MODEL,
      'compiled/1/model.ptl': MODEL,
    }),
  )
  const found = await scanRepository(folder)
  const paths = (name: string): unknown => {
    const model = found.get(name)!
    return 'fault' in model ? model.fault : model.versions.map(({ version, path }) => `${version} ${path.slice(folder.length + 1)}`)
  }
  t.strictSame([...found.keys()], ['compiled', 'empty', 'latest', 'none', 'one', 'several', 'three', 'twice', 'two'])
  t.strictSame(paths('one'), ['1 one/1/model.ptl', '9 one/9/weights.pt2', '10 one/10/model.ff'])
  t.strictSame(paths('two'), ['1 two.ptl'])
  t.strictSame(paths('three'), ['1 three/net.pt'])
  t.strictSame(paths('compiled'), ['1 compiled/1/model.ptlc'])
  t.match(paths('empty'), /no model file/)
  t.match(paths('several'), /no model file; expected one, or model\.ptl/)
  t.strictSame(paths('latest'), ['2 latest/2/model.ptl'])
  t.match(paths('none'), /there is no version 3/)
  t.match(paths('twice'), /keep one of them/)
})

t.test('nothing outside of the repository is read', async (t) => {
  const outside = repository(t, { 'secret.ptl': MODEL, 'folder/1/model.ptl': MODEL, 'labels.txt': { a: 1 }, 'config.json': {} })
  const folder = realpathSync(
    repository(t, {
      'labels/1/model.ptl': MODEL,
      'labels/config.json': { labels: 'names.txt' },
      'config/1/model.ptl': MODEL,
      'plan/1/model.ptlc': MODEL,
      'inside/1/model.ptl': MODEL,
    }),
  )
  symlinkSync(join(outside, 'secret.ptl'), join(folder, 'file.ptl'))
  symlinkSync(join(outside, 'folder'), join(folder, 'folder'))
  symlinkSync(join(outside, 'labels.txt'), join(folder, 'labels/names.txt'))
  symlinkSync(join(outside, 'config.json'), join(folder, 'config/config.json'))
  // what plans were made from is looked for beside them
  symlinkSync(join(outside, 'secret.ptl'), join(folder, 'plan/1/original.ptl'))
  mkdirSync(join(folder, 'version'))
  symlinkSync(join(outside, 'folder/1'), join(folder, 'version/1'))
  mkdirSync(join(folder, 'deep/1'), { recursive: true })
  symlinkSync('../../../../../../../../../etc/hostname', join(folder, 'deep/1/model.ptl'))
  symlinkSync(join(folder, 'inside'), join(folder, 'link'))
  symlinkSync(join(folder, 'nowhere.ptl'), join(folder, 'dangling.ptl'))
  const found = await scanRepository(folder)
  for (const name of ['file', 'folder', 'labels', 'config', 'plan', 'version', 'deep'])
    t.match(found.get(name), { fault: /leads out of the repository/ }, name)
  t.match(found.get('link'), { versions: [{ version: '1' }] }, 'links within are fine')
  t.match(found.get('dangling'), { fault: /ENOENT/ })
  for (const name of ['..', '../x', 'a/b', '/etc/passwd', '.git', 'a\0b', 'a..b', '', 'x'.repeat(200)]) {
    t.equal(isModelName(name), false, JSON.stringify(name))
    t.equal(await scanModel(folder, name), null)
  }
})

t.test('configs are read strictly', (t) => {
  t.match(parseConfig('{}'), { versions: 'all', method: 'forward', batching: null, stateful: null })
  t.strictSame(parseConfig('{"batching": {"maxSize": 16, "delayMs": 2}}').batching, {
    maxSize: 16,
    delayMs: 2,
    preferred: [1, 2, 4, 8, 16],
  })
  t.strictSame(parseConfig('{"batching": {"maxSize": 6, "preferred": [3]}}').batching, { maxSize: 6, delayMs: 0, preferred: [1, 3, 6] })
  t.strictSame(parseConfig('{"stateful": true}').stateful, { most: 64, idleMs: 60_000 })
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['[', /no JSON/],
    ['[]', /config\.json: expected an object/],
    ['{"name": "a"}', /config\.json has 'name'; there are versions/],
    ['{"__proto__": {}}', /has '__proto__'/],
    ['{"versions": "newest"}', /versions: expected "all", "latest"/],
    ['{"inputs": [{"name": "x"}]}', /inputs\[0\]: expected name, datatype and shape/],
    ['{"inputs": [{"name": "x", "datatype": "FLOAT", "shape": []}]}', /inputs\[0\]\.datatype: expected one of/],
    ['{"inputs": [{"name": "x", "datatype": "FP32", "shape": [-2]}]}', /inputs\[0\]\.shape\[0\]/],
    ['{"batching": {"maxSize": 0}}', /batching\.maxSize: expected a whole number of at least 1/],
    ['{"batching": {"maxSize": 4, "preferred": [8]}}', /8 is more than maxSize/],
    ['{"batching": {"maxSize": 99, "preferred": [2,3,4,5,6,7,8]}}', /at most 8 sizes/],
    ['{"labels": "../names.txt"}', /labels: expected the name of a file/],
    ['{"warmUp": [[{"shape": [1]}]]}', /warmUp\[0\]\[0\]: expected datatype and shape/],
    ['{"instances": "2"}', /instances/],
    ['{"compile": "never"}', /compile/],
  ]
  for (const [text, message] of wrong) {
    try {
      parseConfig(text)
      t.fail(text)
    } catch (error) {
      t.ok(error instanceof ConfigError, text)
      t.match((error as Error).message, message)
    }
  }
  t.strictSame(['10', '9', '1', '100'].sort(compareVersions), ['1', '9', '10', '100'])
  t.end()
})

t.test('a config that is too large is not read', async (t) => {
  const folder = realpathSync(repository(t, { 'one/1/model.ptl': MODEL }))
  writeFileSync(join(folder, 'one/config.json'), Buffer.alloc(5 << 20, 32))
  t.match(await scanModel(folder, 'one'), { fault: /config\.json has 5242880 bytes/ })
})
