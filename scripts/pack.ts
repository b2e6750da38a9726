// What `npm run pack` runs: writes the npm packages to `build/`. Nothing is published.
import { resolve } from 'node:path'
import { createEncoderPackage, createPackage, type Package } from './pack/package.ts'

const target = resolve(import.meta.dirname, '../build')
const gateway = await createPackage(target)
const encoder = await createEncoderPackage(target)
const packed = encoder === undefined ? [gateway] : [gateway, encoder]

const lineOf = ({ tarball, files, bytes }: Package): string =>
  `${tarball}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB\n`
const options = packed.map(({ tarball }) => `--package=${tarball}`).join(' ')
process.stdout.write(
  `${packed.map(lineOf).join('')}Try it in an empty folder: npx --ignore-scripts ${options} gatehouse serve\n`,
)
