// Links of a site in a folder that lead nowhere: to no file of it, or to no anchor of a page. Links to other sites are not followed.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** What of a page is looked at: everything that a browser would load or go to. */
const LINK = /<(?:a|link|img|script|source)\b[^>]*?\s(?:href|src)="([^"]*)"/g
const ANCHOR = /\s(?:id|name)="([^"]*)"/g

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"' }
const decoded = (text) =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(amp|lt|gt|quot));/gi, (_, dec, hex, name) =>
    name !== undefined ? ENTITIES[name.toLowerCase()] : String.fromCodePoint(dec !== undefined ? Number(dec) : parseInt(hex, 16)),
  )

/** A line for each: the page, and what it links to. */
export function deadLinks(folder) {
  const pages = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.html'))
  const anchors = new Map()
  const anchorsOf = (path) => {
    if (!anchors.has(path)) anchors.set(path, new Set([...readFileSync(path, 'utf8').matchAll(ANCHOR)].map(([, id]) => decoded(id))))
    return anchors.get(path)
  }
  const dead = new Set()
  for (const page of pages) {
    const from = join(folder, page)
    for (const [, written] of readFileSync(from, 'utf8').matchAll(LINK)) {
      const link = decoded(written)
      if (/^(?:[a-z]+:|\/\/)/i.test(link)) continue
      const [address, anchor = ''] = link.split('#')
      const named = address === '' ? from : join(dirname(from), decodeURIComponent(address.replace(/\?.*$/, '')))
      const target = existsSync(named) && statSync(named).isDirectory() ? join(named, 'index.html') : named
      const isInside = !relative(folder, target).startsWith('..')
      const isThere = isInside && existsSync(target)
      if (!isThere || (anchor !== '' && target.endsWith('.html') && !anchorsOf(target).has(decodeURIComponent(anchor))))
        dead.add(`${page}: ${link}`)
    }
  }
  return [...dead]
}
