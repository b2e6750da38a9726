import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isApiError } from '../api/error.ts'
import { setSignedOut } from './signed-out.ts'

const onError = (error: unknown): void => {
  if (isApiError(error) && error.status === 401) setSignedOut(true)
}

/** Errors of the caller are final; others are tried twice more. */
const retry = (failures: number, error: unknown): boolean =>
  failures < 2 && !(isApiError(error) && error.status >= 400 && error.status < 500)

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: { queries: { retry, staleTime: 5_000, refetchOnWindowFocus: true } },
})
