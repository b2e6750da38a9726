// What `npm run pack` runs: writes the npm package to `build/`. Nothing is published.
import { resolve } from 'node:path'
import { createPackage } from './pack/package.ts'

const { tarball, files, bytes } = await createPackage(resolve(import.meta.dirname, '../build'))
process.stdout.write(
  `${tarball}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB\nTry it in an empty folder: npx --package=${tarball} gatehouse serve\n`,
)
