import { join, relative } from 'node:path'
import type { Plugin } from 'esbuild'
import { NODE_MODULES } from './manifest.js'

/** Gives the modules of Node by what web/node has in their place; one that it has nothing for is an error. */
export function forBrowsers(root: string): Plugin {
  return {
    name: 'for browsers',
    setup(builder) {
      builder.onResolve({ filter: /^node:/ }, ({ path, importer }) => {
        const file = NODE_MODULES[path]
        return file === undefined
          ? { errors: [{ text: `${relative(root, importer)} imports ${path}, for which web/node has nothing` }] }
          : { path: join(root, file) }
      })
    },
  }
}
