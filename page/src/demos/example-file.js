/** Bytes of a file of the examples, by its path below models/. */
export async function exampleFile(path) {
  const response = await fetch(new URL(`../../models/${path}`, import.meta.url))
  if (!response.ok) throw new Error(`${path.split('/').at(-1)}: the server answered with status ${response.status}`)
  return await response.arrayBuffer()
}
