import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readOperators } from '../../codegen/generate.js'
import type { Operator } from '../../codegen/model/operator.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Names of PyTorch's operators by tag, of the tags that declarations here have: pytorch_tags.py writes them. */
const TAGS = new URL('pytorch-2.13-tags.txt', import.meta.url)

/** Where the tags of these operators and PyTorch's differ, a line each. */
export function tagDifferences(operators: readonly Operator[], theirs: string): string[] {
  const lines: string[] = []
  for (const line of theirs.split('\n').filter((text) => text !== '' && !text.startsWith('#'))) {
    const [tag, names] = line.split(': ') as [string, string]
    const tagged = new Set(names.split(' '))
    for (const { qualifiedName, tags } of operators) {
      if (tags.includes(tag) !== tagged.has(qualifiedName))
        lines.push(`${qualifiedName}: ${tagged.has(qualifiedName) ? 'lacks' : 'has'} ${tag}`)
    }
  }
  return lines.sort()
}

/** Of the operators of the library. */
export function compareTags(): string[] {
  return tagDifferences(readOperators(`${root}codegen/native_functions`, root), readFileSync(TAGS, 'utf8'))
}
