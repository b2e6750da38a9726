import { engines } from '../support/engines.ts'
import { storageFiguresContract } from './storage-figures.contract.ts'

for (const engine of engines) storageFiguresContract(engine)
