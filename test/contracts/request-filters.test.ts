import { engines } from '../support/engines.ts'
import { requestFiltersContract } from './request-filters.contract.ts'

for (const engine of engines) requestFiltersContract(engine)
