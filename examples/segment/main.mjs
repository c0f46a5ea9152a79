// Which pixels are what, laid over the picture in colours: node main.mjs [FILE.png [OUT.png]]
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PNG } from 'pngjs'
import { callOperator, imageToTensor, loadModule, tensor, tensorToImage } from 'ptlite'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const labels = readFileSync(here('labels.txt'), 'utf8').trim().split('\n')
// red, green, blue of each class, and how much of it covers the picture
const COLOURS = tensor([[0, 0, 0], [0, 0.75, 0.3], [1, 0.25, 0]]) // prettier-ignore
const COVER = tensor([0, 0.45, 0.6])
const [file = here('cells.png'), out = 'segments.png'] = process.argv.slice(2)

const model = await loadModule(here('cells.ff'))
const pixels = imageToTensor(PNG.sync.read(readFileSync(file))) // [1, 3, height, width] from 0 to 1
const [, , height, width] = pixels.shape
// what the network was trained on: pixels from -1 to 1
const classes = model.forward(pixels.sub(0.5).div(0.5)).argmax(1).flatten()

const colours = COLOURS.indexSelect(0, classes).transpose(0, 1).reshape([1, 3, height, width])
const cover = COVER.indexSelect(0, classes).reshape([1, 1, height, width])
const { data } = tensorToImage(pixels.add(colours.sub(pixels).mul(cover)), { alpha: true })
const png = new PNG({ width, height })
png.data.set(data)
writeFileSync(out, PNG.sync.write(png))

const counts = callOperator('aten::bincount', [classes, null, labels.length]).data()
for (const [i, label] of labels.entries()) console.log(`${label}: ${((100 * Number(counts[i])) / (width * height)).toFixed(1)} %`)
console.log(`drawn: ${out}`)
model.dispose()
