// libdispatch looks once a second, for as long as a program lives, whether a pool of its workers is stuck, to make it
// grow. Swift's pool has as many workers as there are processors and never grows, so all of that is wake-ups.
//
// A worker puts itself under that watch by the first of these, and its first call starts the timer. Defined here, they
// keep libdispatch's own two (src/event/workqueue.c) out of a program that carries the Swift runtime in it. The shared
// libdispatch never calls them. `make bench` counts wake-ups.
struct dispatch_queue_global_s;

void _dispatch_workq_worker_register(struct dispatch_queue_global_s *pool);
void _dispatch_workq_worker_unregister(struct dispatch_queue_global_s *pool);

void _dispatch_workq_worker_register(struct dispatch_queue_global_s *pool)
{
    (void)pool;
}

void _dispatch_workq_worker_unregister(struct dispatch_queue_global_s *pool)
{
    (void)pool;
}
