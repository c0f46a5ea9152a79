/** A plugin of markdown-it: code in a heading counts as its text, which typedoc makes the heading's anchor of, and its entry in the list of the page. */
export function codeInHeadings(parser) {
  parser.core.ruler.push('code_in_headings', ({ tokens, Token }) => {
    const part = (type, content) => Object.assign(new Token(type, '', 0), { content })
    for (const [i, { type }] of tokens.entries()) {
      if (type !== 'heading_open') continue
      const heading = tokens[i + 1]
      heading.children = heading.children.flatMap((child) =>
        child.type === 'code_inline'
          ? [part('html_inline', '<code>'), part('text', child.content), part('html_inline', '</code>')]
          : [child],
      )
    }
  })
}
