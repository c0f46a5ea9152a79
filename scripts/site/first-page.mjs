// The first page of the site: what the README says to those who use the library, without what it says to those who have a clone of it.
import assert from 'node:assert/strict'

const INSTALL = '```sh\nnpm install ptlite\n```'

/** Of the README's text. */
export function firstPage(readme) {
  const [opening, ...sections] = readme.split(/^## /m)
  // a block is a paragraph, a list, or code with blank lines of its own
  const [title, what, clone, howTo, ...rest] = opening.match(/```[^]*?```|[^\n](?:(?!\n\n)[^])*/g)
  assert.match(title, /^# /)
  assert.match(clone, /^```sh\n\.\/setup\.sh/)
  assert.match(howTo, /fresh clone/)
  const kept = sections.filter((text) => !text.startsWith('Further\n'))
  assert.equal(kept.length, sections.length - 1)
  return [what, INSTALL, ...rest, ...kept.map((text) => `## ${text.trimEnd()}`)].join('\n\n')
}
