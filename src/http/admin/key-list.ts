import Type, { type Static } from 'typebox'
import { keyStatuses, type KeyPage } from '../../domain/identity/store.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { listQuery, nameSearch, pageOf } from '../resources/list.ts'

/** The query of both lists of keys. */
export const keyQuery = listQuery({
  search: nameSearch,
  status: Type.Optional(
    Type.Enum([...keyStatuses], {
      description: 'Only keys with this status. Default: `active` and `expired`, without revoked keys.',
    }),
  ),
})

export const keyPageOf = (query: Static<typeof keyQuery>, nowMs: number): KeyPage => ({
  ...pageOf(query),
  ...omitUndefined({ search: query.search, status: query.status && { is: query.status, nowMs } }),
  withoutRevoked: true,
})
