// The first page of the site: what the README says to those who use the library, without what it says to those who have a clone of it.
import assert from 'node:assert/strict'

/** Of the README's text. */
export function firstPage(readme) {
  const [opening, ...sections] = readme.split(/^## /m)
  // a block is a paragraph, a list, or code with blank lines of its own
  const [title, ...paragraphs] = opening.match(/```[^]*?```|[^\n](?:(?!\n\n)[^])*/g)
  assert.match(title, /^# /)
  const clone = paragraphs.findIndex((text) => text.startsWith('```sh\n./setup.sh'))
  assert.match(paragraphs[clone - 1], /In a clone$/)
  assert.match(paragraphs[clone + 1], /fresh machine/)
  const [before, behind] = [paragraphs.slice(0, clone - 1), paragraphs.slice(clone + 2)]
  const kept = sections.filter((text) => !text.startsWith('Further\n'))
  assert.equal(kept.length, sections.length - 1)
  return [...before, ...behind, ...kept.map((text) => `## ${text.trimEnd()}`)].join('\n\n')
}
