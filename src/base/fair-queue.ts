/** A round-robin queue of work that many callers add and that runs in steps. */
export type FairQueue<Job> = {
  /** Returns false if the caller already has the maximum of waiting jobs. */
  add(caller: string, job: Job): boolean
  /** The job whose step is next. Callers alternate, and so do the jobs of one caller. */
  next(): Job | undefined
  remove(caller: string, job: Job): void
  isEmpty(): boolean
}

export function createFairQueue<Job>(maxJobsPerCaller: number): FairQueue<Job> {
  // Both are ring buffers: an entry that was served is removed and appended at the end.
  const callers = new Map<string, Set<Job>>()
  return {
    add(caller, job) {
      const jobs = callers.get(caller) ?? new Set()
      if (jobs.size >= maxJobsPerCaller) return false
      callers.set(caller, jobs.add(job))
      return true
    },
    next() {
      for (const [caller, jobs] of callers) {
        callers.delete(caller)
        callers.set(caller, jobs)
        for (const job of jobs) {
          jobs.delete(job)
          jobs.add(job)
          return job
        }
      }
      return undefined
    },
    remove(caller, job) {
      const jobs = callers.get(caller)
      jobs?.delete(job)
      if (jobs?.size === 0) callers.delete(caller)
    },
    isEmpty: () => callers.size === 0,
  }
}
