"""Where the CPU time of a row of the bench goes, beside that of the bare echo: ``make profile``.

A sampler inside of each server process (`sampler`) notes the Python stack of a thread
after every few milliseconds of CPU time that it has used, so that shares are shares of
CPU time however busy the machine is, and no right to trace processes is needed. The
kernel's own counts give each thread's CPU time and what it waited for. A profiler that
stops the process by the clock, as ``py-spy --native`` does, finds threads where they are
put aside, in system calls: on two busy CPUs it told 60 % of an echo to be in the kernel,
where it is a quarter.
"""
