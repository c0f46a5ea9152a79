import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { root, roomsInOrder } from './rooms.js'

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** What the column of rooms names, from top to bottom, and what the last column says. */
const rows = [...page.matchAll(/^\| (`.*) \| .* \| (.*)\|$/gm)].map(([, rooms, imports]) => ({
  rooms: [...rooms!.matchAll(/`([^`]+)`/g)].map(([, room]) => room!),
  imports: imports!,
}))

t.test('the table of rooms has those that are enforced, in that order', (t) => {
  const named = rows.flatMap(({ rooms }) => rooms)
  t.strictSame(
    named.filter((room) => !room.startsWith('kernels/')),
    roomsInOrder,
  )
  const folders = readdirSync(join(root, 'kernels'), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'generated',
  )
  t.strictSame(named.filter((room) => room.startsWith('kernels/')).sort(), folders.map(({ name }) => `kernels/${name}`).sort())
  t.end()
})

t.test('all folders of the project are named', { skip: spawnSync('git', ['--version']).status !== 0 && 'no git' }, (t) => {
  const { stdout } = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  const folders = new Set(stdout.split('\n').flatMap((path) => (path.includes('/') ? [path.split('/')[0]!] : [])))
  for (const folder of folders) t.ok(page.includes(`\`${folder}\``) || page.includes(`\`${folder}/`), folder)
  t.end()
})

/** Headers of a room that rooms below it include as well. */
const INTERFACES: readonly RegExp[] = [/^kernels\/arch\/[^/]+\/(primitives|isa)\//, /^kernels\/dispatch\/processor\.h$/]

t.test('headers of kernels are included from above', (t) => {
  const order = rows.flatMap(({ rooms }) => rooms).filter((room) => room.startsWith('kernels/'))
  const placeOf = (path: string): number => order.findIndex((room) => path.startsWith(`${room}/`))
  const paths = readdirSync(join(root, 'kernels'), { recursive: true, encoding: 'utf8' })
  const files = paths.map((path) => `kernels/${path}`).filter((path) => /\.(cpp|h)$/.test(path) && !path.startsWith('kernels/generated/'))
  const known = new Set(files)
  let found = 0
  const wrong = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^#include "([^"]+)"/gm)].flatMap(([, name]) => {
      const places = ['kernels', 'kernels/arch/x86', 'kernels/include', dirname(file)].map((folder) => normalize(join(folder, name!)))
      const target = places.find((path) => known.has(path))
      if (target === undefined) return []
      found++
      return placeOf(target) >= placeOf(file) || INTERFACES.some((pattern) => pattern.test(target)) ? [] : [`${file} includes ${target}`]
    }),
  )
  t.strictSame(wrong, [])
  t.ok(found > 500, `${found} includes`)
  t.end()
})
