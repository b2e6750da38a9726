import { createContext } from 'react'
import type { RequestRow } from './queries.ts'

/** The rows of the table, for the buttons to the next and the previous request in the open one. */
export const RowsContext = createContext<readonly RequestRow[]>([])
