import t from 'tap'
import { importsOf, place, sources } from './rooms.js'

/** Rooms that do not import the other one, though that is lower: what is written with other operators calls them, whoever computes them. */
const NEUTRAL: Readonly<Record<string, string>> = { 'runtime/operators/composite': 'runtime/operators/cpu' }

t.test('a lower room never imports a higher one', (t) => {
  const wrong: string[] = []
  const files = sources()
  for (const file of files) {
    const from = place(file)!
    for (const { target } of importsOf(file)) {
      const to = place(target)
      if (to === undefined) wrong.push(`${file} imports ${target}, which is in no room`)
      else if (to.row < from.row || (to.row === from.row && to.room !== from.room) || NEUTRAL[from.room] === to.room)
        wrong.push(`${file} imports ${target}`)
    }
  }
  t.ok(files.length > 100, `${files.length} files`)
  t.strictSame(wrong, [])
  t.end()
})

/** Classes whose methods are functions of other files. */
const CLASSES = ['runtime/tensor/tensor.ts', 'formats/torchscript/expressions.ts']

t.test('files import each other in no circle', (t) => {
  const files = sources()
  const graph = new Map(files.map((file) => [file, importsOf(file).flatMap(({ target, isOfTypes }) => (isOfTypes ? [] : [target]))]))
  t.strictSame(circlesOf(graph), [])
  // nor for types, but where the methods of a class are functions of other files, which take its instances
  const ofTypes = circlesOf(new Map(files.map((file) => [file, importsOf(file).map(({ target }) => target)])))
  t.strictSame(
    ofTypes.filter((circle) => !CLASSES.some((file) => circle.includes(file))),
    [],
  )
  t.equal(ofTypes.length, CLASSES.length)
  t.strictSame(
    circlesOf(
      new Map([
        ['a', ['b']],
        ['b', ['c', 'd']],
        ['c', ['a']],
        ['d', []],
      ]),
    ),
    [['a', 'b', 'c']],
  )
  t.end()
})

/** The strongly connected components of more than one file, sorted (Tarjan). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    stack.push(file)
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue
      if (!index.has(target)) visit(target)
      if (stack.includes(target)) low.set(file, Math.min(low.get(file)!, low.get(target)!))
    }
    if (low.get(file) !== index.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of graph.keys()) if (!index.has(file)) visit(file)
  return circles
}
