import t from 'tap'
import { printed } from './run-example.js'

t.test('a small language model answers legibly', (t) => {
  const [food, home, colour, story] = printed('chat/main.mjs', [
    'What does an owl eat?',
    'Where does a fox live?',
    'What colour is snow?',
    'Tell me a story about a frog.',
  ]).split('\n')
  t.equal(food, 'An owl eats mice at night.')
  t.equal(home, 'The fox lives in a den under an old oak.')
  t.equal(colour, 'Snow is white.')
  t.match(story, /^Once there was a loud frog called [A-Z][a-z]+\. .* flies .*\.$/)
  t.ok(story!.length > 120)
  t.end()
})

t.test('questions come by line, too', (t) => {
  t.equal(printed('chat/main.mjs', [], 'What colour is a lemon?\n\n'), 'A lemon is yellow.\n')
  t.end()
})
