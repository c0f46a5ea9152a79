import t from 'tap'
import { Flow, MIXED, type Step } from '../../formats/pte/flow.js'

const step = (reads: string[], writes: [string, number][], ...next: number[]): Step => ({ reads, writes, next })

t.test('what a straight line reads before it writes it outlives its calls', async (t) => {
  const flow = new Flow([step(['x', 'state'], [['y', 1]], 1), step(['y'], [['state', 2]], 2)])
  t.strictSame([...flow.liveAtStart(['y'])].sort(), ['state', 'x'])
  t.strictSame([...flow.liveAtStart(['never'])].sort(), ['never', 'state', 'x'])
})

t.test('branches that write different forms are told apart from those that agree', async (t) => {
  const flow = new Flow([
    step(['condition'], [], 1, 3),
    step(
      [],
      [
        ['a', 1],
        ['b', 4],
      ],
      2,
    ),
    step([], [], 4),
    step(
      [],
      [
        ['a', 2],
        ['b', 4],
      ],
      4,
    ),
    step(['a', 'b'], [], 5),
  ])
  const contents = flow.contents(new Map([['x', 9]]))
  t.strictSame(Object.fromEntries(contents.get(4)!), { x: 9, a: MIXED, b: 4 })
  t.strictSame([...flow.liveAtStart([])], ['condition'])
})

t.test('a loop reads what its last turn wrote', async (t) => {
  const flow = new Flow([step(['i'], [['row', 1]], 1), step(['i'], [['i', 2]], 2), step(['i'], [], 0, 3)])
  t.strictSame([...flow.liveAtStart(['row'])], ['i'])
  t.equal(
    flow
      .contents(new Map([['i', 0]]))
      .get(0)!
      .get('i'),
    MIXED,
  )
})

t.test('what no path comes to is not looked at', async (t) => {
  const flow = new Flow([step([], [], 2), step(['lost'], [], 2), step(['x'], [], 3)])
  t.strictSame([...flow.liveAtStart([])], ['x'])
})
