import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { PACKAGES } from '../../runtime/native/generated/packages.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const built = ['dist/index.cjs', 'dist/libptlite.so'].every((name) => existsSync(join(root, name)))
const skip = built && process.platform === 'linux' && process.arch === 'x64' ? false : 'not built, or not on Linux on x86-64'
const NAME = '@ptlite/linux-x64'

t.test('the kernel library comes from the package of the platform', { skip }, async (t) => {
  // a package of its own: this one would be found under its name
  const app = t.testdir({ 'package.json': '{}' })
  const modules = join(app, 'node_modules')
  cpSync(join(root, 'dist'), join(modules, 'ptlite/dist'), { recursive: true, filter: (path) => !/\.(so|map)$|\.cache$/.test(path) })
  copyFileSync(join(root, 'package.json'), join(modules, 'ptlite/package.json'))

  function errorOf(): string {
    const program =
      "try { const { tensor, callOperator } = require('ptlite'); callOperator('aten::neg', [tensor([1], [1])]); console.log('none') } catch (e) { console.log(e.code, e.message) }"
    const env = { ...process.env, NODE_OPTIONS: '', PTLITE_NATIVE_LIBRARY: '' }
    return spawnSync(process.execPath, ['-e', program], { cwd: app, encoding: 'utf8', env }).stdout
  }
  t.match(errorOf(), new RegExp(`^NATIVE_LIBRARY no kernel library at .*npm install ${NAME}'`))

  const own = join(modules, NAME)
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'package.json'), JSON.stringify({ name: NAME, main: 'index.cjs' }))
  writeFileSync(join(own, 'index.cjs'), "throw new Error('what is wrong')")
  t.match(errorOf(), /^NATIVE_LIBRARY cannot load the package of the kernel library: what is wrong/)

  writeFileSync(join(own, 'index.cjs'), "module.exports = require('node:path').join(__dirname, 'libptlite.so')")
  copyFileSync(join(root, 'dist/libptlite.so'), join(own, 'libptlite.so'))
  t.equal(errorOf(), 'none\n')
})

t.test('each platform that is released is one that is looked for, and no other', async (t) => {
  const targets = JSON.parse(readFileSync(join(root, 'targets.json'), 'utf8')) as { name: string; npm?: object }[]
  t.strictSame(
    Object.keys(PACKAGES),
    targets.filter(({ npm }) => npm !== undefined).map(({ name }) => name),
  )
})
