/**
 * Compiles the kernel of the embedded classifier. Run it after a change in `src/adapters/classifiers/embedded/kernel/*.as`.
 *
 *   node scripts/build-kernel.ts
 */
import { writeFileSync } from 'node:fs'
import { kernelFile } from '../src/adapters/classifiers/embedded/kernel/load.ts'
import { buildKernel } from './classifier/build-kernel.ts'

const built = await buildKernel()
writeFileSync(kernelFile, built)
console.log(`kernel.wasm ${built.byteLength} bytes`)
