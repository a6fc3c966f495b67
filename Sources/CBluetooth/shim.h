// Headers only: nothing of libbluetooth is linked. The order matters to bluez's own headers.
#include <sys/socket.h>
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
