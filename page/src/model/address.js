/** Addresses of models, and of the page with one of them open. */

/** What an address leads to, as { name, url, isOwn }: on this server or below https. Throws an Error that says what is wrong with it. */
export function sourceAt(text) {
  let url
  try {
    url = new URL(text.trim(), document.baseURI)
  } catch {
    throw new Error('Write the address of a model: https://…')
  }
  const isOwn = url.origin === location.origin
  if (!isOwn && url.protocol !== 'https:') throw new Error(`Addresses begin with https:, found ${url.protocol}`)
  return { name: decodeURIComponent(url.pathname.split('/').at(-1) || url.host), url, isOwn }
}

/** The model that the page's address names; null where it names none. */
export function namedModel(hash = location.hash) {
  const at = /^#\/?model\?url=(.*)$/.exec(hash)?.[1]
  if (at === undefined) return null
  try {
    return sourceAt(decodeURIComponent(at))
  } catch {
    return null
  }
}

/** The page's address with a model open; a relative one for models of its own server. */
export function addressOf({ url }) {
  const base = new URL('.', document.baseURI).href
  const short = url.href.startsWith(base) ? url.href.slice(base.length) : url.href
  return `#/model?url=${encodeURIComponent(short)}`
}
