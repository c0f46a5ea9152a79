import t from 'tap'
import { labelled } from '../../src/cli/labelled.js'
import { type Output, tensor } from '../../src/index.js'

const labels = ['nothing', 'cat', 'dog']
const boxes = tensor([
  [1, 2, 30.25, 40],
  [5, 6, 7, 8],
])
const scores = tensor([0.75, 0.5])
const classes = tensor([2n, 7n])
const FOUND = [
  { index: 2, label: 'dog', score: 0.75, box: [1, 2, 30.25, 40] },
  { index: 7, label: 'class 7', score: 0.5, box: [5, 6, 7, 8] },
]

t.test('boxes are listed with their classes', async (t) => {
  const dict = new Map<string, Output>([
    ['boxes', boxes],
    ['labels', classes],
    ['scores', scores],
  ])
  const forms: readonly Output[] = [[boxes, scores, classes], [classes, boxes, scores], dict, [dict], [new Map(), [dict, dict]]]
  for (const form of forms) t.strictSame(labelled(form, labels, undefined).json, FOUND)
  t.strictSame(labelled(dict, labels, 1).json, FOUND.slice(0, 1))
  t.equal(
    labelled(dict, labels, undefined).text,
    `${' '.repeat(17)}left  top  right  bottom
75.0 %  dog       1.0  2.0   30.3    40.0
50.0 %  class 7   5.0  6.0    7.0     8.0`,
  )
})

t.test('where there are none, it says so', async (t) => {
  const none = labelled([boxes.slice(0, 0, 0), scores.slice(0, 0, 0), classes.slice(0, 0, 0)], labels, undefined)
  t.strictSame(none, { json: [], text: 'nothing found' })
})

t.test('of pixels, the shares of classes', async (t) => {
  // [1, 3, 2, 2]: three pixels are cats, one is a dog
  const pixels = tensor([
    [
      [
        [0, 0],
        [0, 0],
      ],
      [
        [1, 2],
        [3, -1],
      ],
      [
        [0, 1],
        [0, 5],
      ],
    ],
  ])
  const wanted = [
    [
      { index: 1, label: 'cat', share: 0.75 },
      { index: 2, label: 'dog', share: 0.25 },
    ],
  ]
  for (const form of [pixels, new Map([['out', pixels]])]) {
    const { json, text } = labelled(form, labels, undefined)
    t.strictSame(json, wanted)
    t.equal(text, ' 75.0 % of the pixels  cat\n 25.0 % of the pixels  dog')
  }
  t.strictSame(labelled(pixels, labels, 1).json, [wanted[0]!.slice(0, 1)])
})

t.test('of scores, the likeliest classes', async (t) => {
  t.equal(labelled([tensor([[0, 1, 3]])], labels, 2).text, ' 84.4 %  dog\n 11.4 %  cat')
  for (const form of [null, 3, [], tensor([[[1, 2]]]), tensor([])])
    t.throws(() => labelled(form, labels, undefined), { message: /^--labels: the result is neither/ })
})
