// A conversation with a small language model: node main.mjs, or node main.mjs "What does an owl eat?" "Tell me a story about a fox."
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { loadModule, loadTokenizer, openSession } from 'ptlite'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const json = (name) => JSON.parse(readFileSync(here(name), 'utf8'))

const model = await loadModule(here('model.pt2'))
const tokenizer = await loadTokenizer({ tokenizer: json('tokenizer.json'), config: json('tokenizer_config.json') })
// keeps what it has seen from one answer to the next
const session = await openSession(model)
const messages = []

async function answer(question) {
  messages.push({ role: 'user', content: question })
  const options = { tokenizer, stop: tokenizer.endTokens, maxTokens: 120 }
  let content = ''
  for await (const { text } of session.generate(tokenizer.chat(messages), options)) {
    content += text
    process.stdout.write(text)
  }
  process.stdout.write('\n')
  messages.push({ role: 'assistant', content })
}

const given = process.argv.slice(2)
const questions = given.length > 0 ? given : createInterface({ input: process.stdin })
for await (const question of questions) if (question.trim() !== '') await answer(question.trim())
session.dispose()
model.dispose()
