// What sentences ask for: node main.mjs "wake me at seven" ..., or one in each line of stdin
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Tokenizer } from '@huggingface/tokenizers'
import { loadModule, tensor } from 'ptlite'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const labels = readFileSync(here('labels.txt'), 'utf8').trim().split('\n')
const tokenizer = new Tokenizer(JSON.parse(readFileSync(here('tokenizer.json'), 'utf8')), {})
const LONGEST = 64 // pieces of words that the network was made for
const PAD = tokenizer.token_to_id('[PAD]')

const given = process.argv.slice(2)
const texts = (given.length > 0 ? given : readFileSync(0, 'utf8').split('\n')).filter((text) => text.trim() !== '')
if (texts.length === 0) throw new Error('no sentence was given')

const model = await loadModule(here('intents.pt2'))
// one batch, in which shorter sentences are filled up
const ids = texts.map((text) => tokenizer.encode(text).ids.slice(0, LONGEST))
const length = Math.max(...ids.map((row) => row.length))
const batch = tensor(ids.map((row) => [...row, ...Array(length - row.length).fill(PAD)]), undefined, 'int64') // prettier-ignore

const [chances, classes] = model.forward(batch).softmax().topk(1)
for (const [i, text] of texts.entries()) {
  const [[chance], [kind]] = [chances.toArray()[i], classes.toArray()[i]]
  console.log(`${labels[kind].padEnd(8)} ${(100 * chance).toFixed(0).padStart(3)} %  ${text}`)
}
model.dispose()
