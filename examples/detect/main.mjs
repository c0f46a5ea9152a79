// What is where on a picture, with boxes drawn around it: node main.mjs [FILE.png [OUT.png]]
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PNG } from 'pngjs'
import { imageToTensor, loadModule } from 'ptlite'
import { frame, widthOf, write } from './draw.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const labels = readFileSync(here('labels.txt'), 'utf8').trim().split('\n')
const COLOURS = [[255, 214, 0], [0, 200, 255], [255, 90, 140], [120, 230, 90]] // prettier-ignore
const [file = here('shapes.png'), out = 'found.png'] = process.argv.slice(2)
const [MIN_SCORE, MAX_OVERLAP] = [0.5, 0.5]

const model = await loadModule(here('detector.pt'))
const picture = PNG.sync.read(readFileSync(file))
// what the network was trained on: pixels from -1 to 1, and shapes of the size they have where the shorter side is 112
const x = imageToTensor(picture, { resize: 112, mean: 0.5, std: 0.5 })
const [boxes, scores, classes] = model.forward(x, MIN_SCORE, MAX_OVERLAP)
// from pixels of x to pixels of the picture
const corners = boxes.mul(picture.width / x.shape[3]).toArray()
const [chances, kinds] = [scores.toArray(), classes.toArray()]

for (const [i, box] of corners.entries()) {
  const sides = box.map(Math.round)
  const text = `${labels[kinds[i]]} ${Math.round(100 * chances[i])} %`
  const colour = COLOURS[kinds[i] % COLOURS.length]
  frame(picture, sides, colour, 2)
  // above the box, as far as there is room
  const [left, top] = [Math.min(sides[0], picture.width - widthOf(text, 2)), Math.max(0, sides[1] - 14)]
  write(picture, text, left, top, [0, 0, 0], colour, 2)
  console.log(`${text} at ${sides.join(', ')}`)
}
writeFileSync(out, PNG.sync.write(picture))
console.log(`${corners.length} boxes drawn: ${out}`)
model.dispose()
