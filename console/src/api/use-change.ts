import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { isApiError } from './error.ts'

type ChangeOptions<Input, Result> = {
  readonly send: (input: Input) => Promise<Result>
  /** Queries whose data the change makes old. */
  readonly refresh: readonly QueryKey[]
  /** Of several calls, those before the one that failed have changed something. */
  readonly refreshesOnError?: boolean
  readonly onDone?: (result: Result) => void
}

/** A change through the API. Lists that it affects are loaded again before it counts as done. */
export function useChange<Input, Result>(options: ChangeOptions<Input, Result>) {
  const { send, refresh, refreshesOnError = false, onDone } = options
  const client = useQueryClient()
  const load = () => Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })))
  return useMutation({
    mutationFn: send,
    retry: false,
    onSuccess: async (result) => {
      await load()
      onDone?.(result)
    },
    onError: async () => {
      if (refreshesOnError) await load()
    },
  })
}

/** The message of an error that names this field of the form. */
export const errorOfField = (error: unknown, field: string): string | undefined =>
  isApiError(error) && (error.param === field || isBelow(error.param, field)) ? error.message : undefined

/** Whether `param` is a part of the field, such as `rules.denylist[3]` of `rules.denylist`. */
const isBelow = (param: string | undefined, field: string): boolean =>
  param?.startsWith(`${field}.`) === true || param?.startsWith(`${field}[`) === true
